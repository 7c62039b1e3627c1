import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import { onTestFinished } from 'vitest'
import { end } from './runtimes.ts'

/** A process in a folder, until the test ends. */
export function startIn(
  folder: string,
  [command = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
): ChildProcess {
  const child = spawn(command, args, {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  onTestFinished(async () => {
    try {
      end(child)
    } catch {
      return
    }
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })
  return child
}

export interface Answer {
  status: number
  /** As they came. */
  pieces: string[]
  text(): string
}

export interface AskOptions {
  host?: string
  lastEventId?: string
  /** Called with what has come so far. */
  onText?(text: string): void
}

/** Asks as Ann, for a stream. A connection that is cut ends the answer. */
export function ask(port: number, path: string, body?: object, options: AskOptions = {}): Promise<Answer> {
  const { host = 'api.acme.com', lastEventId, onText = () => {} } = options
  const headers = {
    ...{ host, cookie: 'ann', accept: 'text/event-stream', authorization: 'ann' },
    ...(body && { 'content-type': 'application/json' }),
    ...(lastEventId && { 'last-event-id': lastEventId }),
  }
  const of = { host: '127.0.0.1', port, path, headers, method: body === undefined ? 'GET' : 'POST' }
  return new Promise((resolve, reject) => {
    const asked = request(of)
    asked.once('error', reject)
    asked.once('response', async (response) => {
      const pieces: string[] = []
      try {
        for await (const piece of response) {
          pieces.push(String(piece))
          onText(textIn(pieces.join('')))
        }
      } catch {
        // The process was killed.
      }
      resolve({ status: response.statusCode ?? 0, pieces, text: () => textIn(pieces.join('')) })
    })
    asked.end(body && JSON.stringify(body))
  })
}

/** Starts a run, and sends a signal in mid-answer: to all processes of the child, because a shell stands around some of them. */
export function askDuring(port: number, path: string, child: ChildProcess, signal: NodeJS.Signals): Promise<Answer> {
  let isSent = false
  const onText = (text: string) => {
    if (isSent || text.length < 20) return
    isSent = true
    process.kill(-(child.pid as number), signal)
  }
  return ask(port, `${path}/runs`, { input: 'Hi' }, { onText })
}

/** The text of an answer, from the events of its stream. */
function textIn(stream: string): string {
  const events = stream.matchAll(/^data: (\{"type":"text-delta".*)$/gm)
  return [...events].map(([, data = '{}']) => JSON.parse(data).delta).join('')
}

export function lastEventId({ pieces }: Answer): string {
  return [...pieces.join('').matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? ''
}
