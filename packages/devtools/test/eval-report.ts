import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Agent } from '@allium/core'
import { type EvalReport, evaluate, score } from '@allium/evals'
import { scriptedModel } from 'allium/testing'
import { onTestFinished } from 'vitest'

const answers = { refund: 'You get the money back.', hello: 'Hello!', parcel: 'It is on its way.' }
const cases = Object.entries(answers).map(([id, expected]) => ({ id, input: `About ${id}`, expected, tags: ['first'] }))

/** Evaluates an agent that answers each case as expected, except those in `wrong`. */
export function evalReport(wrong: readonly string[] = [], baseline?: EvalReport): Promise<EvalReport> {
  const answerOf = (text: string) => {
    const [id, answer] = Object.entries(answers).find(([id]) => text.includes(id)) ?? ['', '']
    return wrong.includes(id) ? '<b>I do not know.</b>' : answer
  }
  const agent = new Agent({
    name: 'support',
    model: {
      id: 'scripted',
      stream: (request) => scriptedModel([answerOf(String(request.messages.at(-1)?.content))]).stream(request),
    },
  })
  const gates = { equals: baseline === undefined ? { min: 0.1 } : { maxDrop: 0.1 } }
  return evaluate({ agent, cases, trials: 2, scorers: { equals: score.equals() }, gates, baseline })
}

/** A folder of a project, which is removed after the test. */
export function projectFolder(parent: string) {
  mkdirSync(parent, { recursive: true })
  const cwd = mkdtempSync(join(parent, 'evals-'))
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  return { cwd, write: (name: string, content: unknown) => writeJson(join(cwd, name), content) }
}

/** Writes a file and its folder: a text as it is, anything else as JSON. */
export function writeJson(path: string, content: unknown): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
}
