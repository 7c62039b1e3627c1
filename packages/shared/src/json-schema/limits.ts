/** Limits for a JSON Schema from an untrusted source, and for the work of one check. */
export interface UntrustedSchemaLimits {
  /** The maximum size of the schema as JSON, in bytes. @default 262_144 */
  maxBytes?: number | undefined
  /** The maximum nesting depth of the schema as JSON. @default 100 */
  maxDepth?: number | undefined
  /** The maximum number of inner schemas, including those of references. @default 5_000 */
  maxSubschemas?: number | undefined
  /**
   * The maximum number of steps in one check. A keyword costs at least one step. A pattern costs one step per character for each four
   * instructions of its program. A million steps take about 0.2 s at most. @default 1_000_000
   */
  maxSteps?: number | undefined
}

export const defaults = {
  maxBytes: 262_144,
  maxDepth: 100,
  maxSubschemas: 5_000,
  maxSteps: 1_000_000,
}

/** The maximum depth of a check; deeper references and data fail the check. */
export const maxCheckDepth = 300
/** The maximum number of instructions in one compiled pattern. */
export const maxPatternSize = 4_000
/** The maximum number of instructions in all patterns of one schema. */
export const maxPatternsSize = 50_000
/** The maximum length of all pattern sources of one schema, in UTF-16 code units. */
export const maxPatternsLength = 20_000
/** The maximum length of a pattern source, in UTF-16 code units. */
export const maxPatternLength = 1_000
