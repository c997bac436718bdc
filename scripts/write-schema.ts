import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { editorJsonSchema } from '../src/config/json-schema.ts';

/** Writes `config.schema.json` from the zod schema. A test fails when the file is not what this writes. */
const file = join(import.meta.dirname, '..', 'config.schema.json');
writeFileSync(file, `${JSON.stringify(editorJsonSchema(), null, 1)}\n`);
