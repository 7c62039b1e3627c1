import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { parse } from 'yaml'

export const root = fileURLToPath(new URL('..', import.meta.url))
/** The Node of the Dockerfile. */
const node = fileURLToPath(new URL('../../../e2e/runtimes/node_modules/node24/bin/node', import.meta.url))

export type Env = Readonly<Record<string, string>>

interface Service {
  command?: string[]
  environment?: Record<string, string>
  healthcheck?: { test: string[] }
}

export function readDeploy(name: string): string {
  return readFileSync(join(root, 'deploy', name), 'utf8')
}

export function services(): Record<string, Service> {
  return (parse(readDeploy('compose.yaml')) as { services: Record<string, Service> }).services
}

/** The start command of the image. */
export function imageCommand(): string[] {
  const [, command = '[]'] = /^CMD (\[.*\])$/m.exec(readDeploy('Dockerfile')) ?? []
  return JSON.parse(command) as string[]
}

/** A folder until the test is over. */
export function folder(files: Env = {}): string {
  const dir = mkdtempSync(join(tmpdir(), 'allium-deploy-'))
  for (const [name, content] of Object.entries(files)) writeFileSync(join(dir, name), content)
  onTestFinished(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }))
  return dir
}

/** Starts a command of a recipe in the folder of the example. `node` is the one of the Dockerfile. */
export function start([command = '', ...args]: readonly string[], env: Env): ChildProcess & { output(): string } {
  const program = /(^|\/)node$/.test(command) ? node : command
  const { PATH, SAAS_PAGES } = process.env
  const child = spawn(program, args, { cwd: root, env: { PATH, ...(SAAS_PAGES && { SAAS_PAGES }), ...env } })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => (output += piece))
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  return Object.assign(child, { output: () => output })
}

/** Runs a command of a recipe to its end. */
export async function runToEnd(command: readonly string[], env: Env): Promise<{ code: number; output: string }> {
  const child = start(command, env)
  const [code] = await once(child, 'close')
  return { code, output: child.output() }
}

export interface Ask {
  port: number
  host: string
  path: string
  cookie?: string
  body?: object
  lastEventId?: string
  /** Called with each piece of the response. */
  onPiece?(piece: string): void
}

/** Sends a request to the public host, like a browser. A cut connection ends the response. */
export function ask({ port, host, path, cookie = '', body, lastEventId, onPiece }: Ask) {
  const headers = {
    host,
    cookie,
    accept: 'text/event-stream',
    ...(body && { 'content-type': 'application/json' }),
    ...(lastEventId && { 'last-event-id': lastEventId }),
  }
  const method = body === undefined ? 'GET' : 'POST'
  return new Promise<{ status: number; text: string; cookie: string }>((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers })
    sent.once('error', reject)
    sent.once('response', async (response) => {
      let text = ''
      try {
        for await (const piece of response) {
          text += piece
          onPiece?.(text)
        }
      } catch {
        // The process was killed.
      }
      const [set = ''] = response.headers['set-cookie'] ?? []
      resolve({ status: response.statusCode ?? 0, text, cookie: set.split(';')[0] ?? '' })
    })
    sent.end(body && JSON.stringify(body))
  })
}

/** The text of an answer, from the events of its stream. */
export function answerIn(stream: string): string {
  const deltas = stream.matchAll(/^data: (\{"type":"text-delta".*)$/gm)
  return [...deltas].map(([, data = '{}']) => (JSON.parse(data) as { delta: string }).delta).join('')
}

export function lastEventId(stream: string): string {
  return [...stream.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? ''
}
