/** Bounds for a JSON Schema from an untrusted source, and for the work of one check. */
export interface UntrustedSchemaLimits {
  /** Bytes of the schema as JSON. @default 262_144 */
  maxBytes?: number | undefined
  /** How deep the schema nests, as JSON. @default 100 */
  maxDepth?: number | undefined
  /** Schemas inside the schema, those behind references included. @default 5_000 */
  maxSubschemas?: number | undefined
  /**
   * Steps of one check. A keyword costs at least one step. A pattern costs one step per character for each four
   * instructions of its program. A million steps take at most about 0.2 s. @default 1_000_000
   */
  maxSteps?: number | undefined
}

export const defaults = {
  maxBytes: 262_144,
  maxDepth: 100,
  maxSubschemas: 5_000,
  maxSteps: 1_000_000,
}

/** How deep a check goes: references and data that nest deeper fail the check. */
export const maxCheckDepth = 300
/** Instructions of one compiled pattern. */
export const maxPatternSize = 4_000
/** Instructions of all patterns of one schema together. */
export const maxPatternsSize = 50_000
/** UTF-16 code units in the sources of all patterns of one schema together. */
export const maxPatternsLength = 20_000
/** UTF-16 code units in the source of a pattern. */
export const maxPatternLength = 1_000
