/** How well a scorer agrees with people. */
export interface Calibration {
  /** The share of answers on which both agree, from 0 to 1. Invalid scores do not agree. */
  readonly agreement: number
  /** The bounds of the true agreement, each wrong in at most 5 % of all calibrations. */
  readonly interval: readonly [low: number, high: number]
  /** Agreement beyond chance, by J. Cohen (1960): 1 is perfect, 0 is chance. Absent if all labels or all scores are alike. */
  readonly kappa?: number
  readonly labels: number
  /** The ids of answers that only the scorer accepted. */
  readonly acceptedWrongly: readonly string[]
  /** The ids of answers that only the person accepted. */
  readonly rejectedWrongly: readonly string[]
  readonly invalid: readonly string[]
}
