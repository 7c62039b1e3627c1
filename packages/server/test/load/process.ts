import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundled } from '../../../store-postgres/test/bundled.ts'
import type { Taken } from './child.ts'

export type Kind = 'bare' | 'memory' | 'redis'

/** A process under load. */
export interface Loaded {
  url: string
  reset(): Promise<Taken>
  take(): Promise<Taken>
}

/** Runs one process of a kind, of one file that holds all its code, as products ship theirs. */
export async function withLoaded<T>(
  kind: Kind,
  redis: string | undefined,
  work: (loaded: Loaded) => Promise<T>,
): Promise<T> {
  const child = fork(await file(), [kind, redis ?? ''], {
    execArgv: ['--expose-gc'],
    env: { ...process.env, NODE_ENV: 'production' },
  })
  const [{ url }] = (await once(child, 'message')) as [{ url: string }]
  const ask = async (what: 'reset' | 'take') => {
    child.send(what)
    const [taken] = (await once(child, 'message')) as [Taken]
    return taken
  }
  try {
    return await work({ url, reset: () => ask('reset'), take: () => ask('take') })
  } finally {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
}

let made: Promise<string> | undefined

function file(): Promise<string> {
  made ??= makeFile()
  return made
}

async function makeFile(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'allium-load-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return bundled(join(import.meta.dirname, 'child.ts'), folder)
}
