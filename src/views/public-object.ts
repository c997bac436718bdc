import * as z from 'zod';

/** Makes the public JSON of a view; the schema says its shape, for the API's document and for those who check answers. */
export interface PublicObject<View, Shape extends z.ZodRawShape> {
  (view: View): z.output<z.ZodObject<Shape, z.core.$strict>>;
  readonly schema: z.ZodObject<Shape, z.core.$strict>;
}

type Fields<View, Shape extends z.ZodRawShape> = {
  readonly [Key in keyof Shape]: readonly [schema: Shape[Key], value: (view: View) => z.output<Shape[Key]>];
};

/**
 * Describes a public object once: each key with the schema of its value and where the value comes from.
 * `id` names it in the API's document.
 */
export function publicObject<View>() {
  return <Shape extends z.ZodRawShape>(
    id: string,
    fields: Fields<View, Shape>,
    description?: string,
  ): PublicObject<View, Shape> => {
    const entries = Object.entries(fields) as readonly [string, Fields<View, Shape>[string]][];
    const schema = z
      .strictObject(shapeOf(fields))
      .meta({ id, ...(description === undefined ? {} : { description }) });
    const toPublic = (view: View) => {
      const made: Record<string, unknown> = {};
      for (const [key, [, value]] of entries) made[key] = value(view);
      return made as z.output<typeof schema>;
    };
    return Object.assign(toPublic, { schema });
  };
}

/** An object or null. The document's generator takes a named schema that is `nullable` for nullable everywhere. */
export function orNull<Schema extends z.ZodType>(schema: Schema) {
  return z.union([schema, z.null()]);
}

/** The schemas alone. `Fields` has one for each key of the shape, and `fromEntries` forgets which. */
function shapeOf<View, Shape extends z.ZodRawShape>(fields: Fields<View, Shape>): Shape {
  return Object.fromEntries(Object.entries(fields).map(([key, [schema]]) => [key, schema])) as Shape;
}
