import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { programFlags } from '../../../e2e/program-flags.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

export interface Demo {
  url: string
  /** Its output so far. */
  said(): string
  kill(signal?: NodeJS.Signals): Promise<number | null>
}

/** Runs what `npm run demo:saas` runs, on a free port. Rejects with its output if it does not start. */
export async function startDemo(env: Record<string, string>): Promise<Demo> {
  const args = [...programFlags, 'examples/saas-backend/src/index.ts']
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { PATH: process.env.PATH, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  const ended = once(child, 'exit')
  const url = await new Promise<string>((resolve, reject) => {
    const hear = (text: string) => {
      said += text
      const [, found] = /Chat +(http\S+)[\s\S]*Ctrl-C/.exec(said) ?? []
      if (found !== undefined) resolve(found)
    }
    child.stdout.setEncoding('utf8').on('data', hear)
    child.stderr.setEncoding('utf8').on('data', hear)
    ended.then(() => reject(new Error(`The demo ended: ${said}`)))
  })
  return {
    url,
    said: () => said,
    async kill(signal = 'SIGTERM') {
      child.kill(signal)
      const [code] = await ended
      return code
    },
  }
}

/** A folder for the data of demos, and a function that deletes it. */
export function dataFolder(): { dir: string; remove(): void } {
  const dir = mkdtempSync(join(tmpdir(), 'allium-saas-'))
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }) }
}

/** Signs in with a key, and returns the cookie. */
export async function cookieOf(url: string, key: string): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${url}/sign-in`, { method: 'POST', headers, body: JSON.stringify({ key }) })
  return response.headers.get('set-cookie')?.split(';')[0] ?? ''
}
