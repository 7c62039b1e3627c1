/** JSON Schema of a run's answer, which is an object. */
export type OutputJsonSchema = Readonly<Record<string, unknown>>
