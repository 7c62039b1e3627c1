import type { Scenario } from '../scenario.ts'
import { answers } from './answers.ts'
import { calls } from './calls.ts'
import { ends } from './ends.ts'
import { files } from './files.ts'
import { histories } from './histories.ts'
import { schemas } from './schemas.ts'

/** The columns of the table, in their order. */
export const scenarios: readonly Scenario[] = [...answers, ...calls, ...ends, ...histories, ...files, ...schemas]

/** The columns of the table in the docs. */
export const groups: Record<string, readonly string[]> = {
  text: ['text', 'finish reasons'],
  reasoning: ['reasoning', 'signed reasoning'],
  tokens: ['usage', 'cached and reasoning tokens'],
  tools: calls.map(({ name }) => name),
  'cut answers': ['cut', 'cut call', 'socket broken'],
  errors: ['error in the stream', 'error status'],
  abort: ['abort'],
  'other histories': histories.map(({ name }) => name),
  files: files.map(({ name }) => name),
  schemas: schemas.map(({ name }) => name),
}
