/** What the answer of a run must be: a JSON Schema of an object. */
export type OutputJsonSchema = Readonly<Record<string, unknown>>
