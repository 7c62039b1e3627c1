import type { Scenario } from '../scenario.ts'
import { answers } from './answers.ts'
import { calls } from './calls.ts'
import { ends } from './ends.ts'
import { requests } from './requests.ts'

/** The columns of the table, in their order. */
export const scenarios: readonly Scenario[] = [...answers, ...calls, ...ends, ...requests]
