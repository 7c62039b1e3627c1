import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Agent } from '@allium/core'
import { buildSync } from 'esbuild'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { type ClientEvent, type ClientSession, createClient } from '../../src/client.ts'
import { type OnEnd, startProxy } from './proxies.ts'

/** Behind each of four proxies, so 52 in total. */
const deploys = 13
const [folder, program] = bundled()

describe.concurrent.each(['nginx', 'HAProxy', 'Apache', 'Caddy'])('behind %s', (name) => {
  test(`${deploys} deploys in mid-answer lose nothing and double nothing`, async ({ onTestFinished }) => {
    const upstream = await restartable(name, onTestFinished)
    const reader = new Reader(await startProxy(name, upstream.port, onTestFinished))
    const reading = reader.read()
    for (let deploy = 0; deploy < deploys; deploy++) {
      await Promise.race([reader.nextStep(), reading])
      await upstream.restart(deploy % 2 === 0 ? 'SIGKILL' : 'SIGTERM')
    }
    reader.isLast = true
    await reading
    await reader.check()
  })
})

/** Asks one question after the other. */
class Reader {
  isLast = false
  readonly #session: ClientSession
  readonly #steps: string[] = []
  #answers = 0
  #onStep = () => {}
  /** The step whose text is awaited, by its position. */
  #awaited = 0

  constructor(url: string) {
    const headers = () => ({ authorization: 'ann' })
    const delay = () => new Promise<void>((resolve) => setTimeout(resolve, 50))
    this.#session = createClient<Agent>({ url, headers, backoff: delay, attempts: 1000 }).session('a') as ClientSession
  }

  async read(): Promise<void> {
    while (!this.isLast) {
      const run = this.#session.run(`Question ${this.#answers}`)
      const ends: string[] = []
      for await (const event of run) {
        if (event.type === 'turn:start' || event.type === 'turn:end') ends.push(event.type)
        this.#receive(event)
      }
      expect([(await run).status, ends]).toEqual(['completed', ['turn:start', 'turn:end']])
      this.#answers++
    }
  }

  #receive(event: ClientEvent): void {
    if (event.type === 'step:start') this.#steps.push('')
    if (event.type === 'model:reset') this.#steps.splice(-1, 1, '')
    if (event.type === 'text-delta') this.#steps.push(`${this.#steps.pop()}${event.delta}`)
    if (event.type === 'text-delta' && this.#steps.length > this.#awaited) this.#onStep()
  }

  /** Resolves in the midst of a later step. A run that records no step between its starts fails with `run.attempts`. */
  nextStep(): Promise<void> {
    this.#awaited = this.#steps.length
    return new Promise((resolve) => (this.#onStep = resolve))
  }

  async check(): Promise<void> {
    const { messages } = await this.#session.history()
    const texts = (of: string) =>
      messages.flatMap(({ role, parts }) =>
        role === of ? parts.flatMap((part) => ('text' in part ? [part.text] : [])) : [],
      )
    expect(texts('user')).toEqual(Array.from({ length: this.#answers }, (_, index) => `Question ${index}`))
    // An answer adds six messages.
    const steps = Array.from({ length: 3 * this.#answers }, (_, step) => textOf(2 * step + 1))
    expect(this.#steps).toEqual(steps)
    expect(texts('assistant')).toEqual(steps)
  }
}

function textOf(messages: number): string {
  return Array.from({ length: 10 }, (_, word) => `w${messages}-${word} `).join('')
}

/** The server of `deployed.ts` as one file, so that it starts in a moment. */
function bundled(): [folder: string, program: string] {
  const folder = mkdtempSync(join(tmpdir(), 'allium-deploys-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const program = join(folder, 'deployed.mjs')
  // A native module, which stays where it is.
  const libsql = createRequire(new URL('../../../store-sqlite/package.json', import.meta.url)).resolve('libsql')
  buildSync({
    entryPoints: [join(import.meta.dirname, 'deployed.ts')],
    outfile: program,
    ...{ bundle: true, platform: 'node', format: 'esm', conditions: ['@allium/source'] },
    alias: { libsql },
    external: [libsql, '@modelcontextprotocol/server', '@opentelemetry/api'],
  })
  return [folder, program]
}

/** The server as a process on one port. */
async function restartable(name: string, onEnd: OnEnd) {
  const port = await steadyPort()
  let child: ChildProcess
  const isReady = async () => expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200)
  const start = async () => {
    child = spawn(process.execPath, [program, `${port}`, join(folder, `${name}.db`)], { stdio: 'inherit' })
    await vi.waitFor(isReady, { interval: 20, timeout: 30_000 })
  }
  await start()
  onEnd(async () => void child.kill('SIGKILL'))
  return {
    port,
    async restart(signal: NodeJS.Signals) {
      const exited = once(child, 'exit')
      child.kill(signal)
      expect(await exited).toEqual(signal === 'SIGTERM' ? [0, null] : [null, signal])
      await start()
    },
  }
}

/** A free port that no outgoing connection gets while its server is down: these have ports above 32767. */
async function steadyPort(): Promise<number> {
  const port = 20_000 + Math.floor(Math.random() * 10_000)
  const probe = createServer()
  const listened = once(probe, 'listening')
  probe.listen(port, '127.0.0.1')
  const isFree = await listened.then(
    () => true,
    () => false,
  )
  await new Promise((resolve) => probe.close(resolve))
  return isFree ? port : steadyPort()
}
