import { type Command, exitCodes } from '../command.ts';

export const schemaCommand: Command = {
  name: 'schema',
  summary: 'print the JSON Schema of the configuration',
  details: 'Name it in the configuration as "$schema", and editors complete and check the file as you type.',
  usesConfiguration: false,
  examples: ['lowwater schema > config.schema.json'],
  run: async (context) => {
    const { editorJsonSchema } = await import('../../config/json-schema.ts');
    await context.stdout.write(`${JSON.stringify(editorJsonSchema(), null, 1)}\n`);
    return exitCodes.ok;
  },
};
