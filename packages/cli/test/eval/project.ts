import { EventEmitter } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { main } from '../../src/index.ts'

/** An eval file of an agent with a tool and a layer. Its model asks for refunds above the limit in the cases whose number is below `lost`. */
export function evalFile({ cases = 60, gates = '{ right: { min: 0.8 } }', lost = 0, more = '' } = {}): string {
  return `import { Agent, defineMiddleware } from 'allium'
import { defineEval, score } from '@allium/evals'
import { scriptedModel } from 'allium/testing'

const number = (text: unknown) => Number(String(text).split(' ').at(-1))
const model = scriptedModel(Array.from({ length: 2000 }, () => ({ messages }: any) =>
  messages.at(-1).role === 'user' && number(messages.at(-1).content) <= ${lost}
    ? { toolCalls: [{ name: 'refund', args: {} }] }
    : 'Yes.'))
const refund = { name: 'refund', description: 'Refunds', jsonSchema: { type: 'object' }, execute: () => 'done' }
const limit = defineMiddleware({ name: 'limit', tool: (ctx) => ctx.deny('Above the limit.') })

export default defineEval({
  agent: new Agent({ name: 'desk', model, tools: [refund] }).use(limit),
  cases: Array.from({ length: ${cases} }, (_, i) => ({ input: 'case ' + (i + 1), tags: i % 2 === 0 ? ['odd'] : [] })),
  trials: 1,
  scorers: { right: score.notDecided() },
  gates: ${gates},
  ${more}
})
`
}

/** A project folder in which eval files can import the packages of this repository. */
export function project(files: Readonly<Record<string, string>>) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'allium-eval-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  symlinkSync(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(root, 'node_modules'))
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), content)
  }
  const read = (name: string) => (existsSync(join(root, name)) ? readFileSync(join(root, name), 'utf8') : undefined)
  return { root, read, write: (name: string, content: string) => writeFileSync(join(root, name), content), allium }

  /** Runs a command there. `onStart` gets the process, to send signals. */
  async function allium(argv: readonly string[], { isTTY = false, env = {}, onError = () => {} }: Around = {}) {
    const stream = () => Object.assign(new PassThrough(), { isTTY, columns: 80 })
    const streams = { stdin: stream(), stdout: stream(), stderr: stream() }
    const around = Object.assign(new EventEmitter(), streams, { env, cwd: () => root })
    streams.stderr.on('data', (data) => onError(String(data), around))
    const [out, err] = [text(streams.stdout), text(streams.stderr)]
    const code = await main(argv, around)
    for (const one of [streams.stdout, streams.stderr]) one.end()
    return { code, out: await out, err: (await err).replaceAll(`${root}/`, '') }
  }
}

interface Around {
  isTTY?: boolean
  env?: Record<string, string>
  onError?(data: string, process: EventEmitter): void
}
