import type { Scenario } from '../scenario.ts'
import { answers } from './answers.ts'

/** The columns of the table, in their order. */
export const scenarios: readonly Scenario[] = [...answers]
