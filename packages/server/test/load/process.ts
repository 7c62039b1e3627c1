import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Taken } from './child.ts'

export type Kind = 'bare' | 'memory' | 'redis'

/** A process under load. */
export interface Loaded {
  url: string
  reset(): Promise<Taken>
  take(): Promise<Taken>
  end(): Promise<void>
}

export async function startLoaded(kind: Kind, redisUrl = ''): Promise<Loaded> {
  const child = fork(fileURLToPath(new URL('./child.ts', import.meta.url)), [kind, redisUrl], {
    execArgv: ['--expose-gc', '--conditions=@allium/source', '--import=tsx'],
    env: { ...process.env, NODE_ENV: 'production' },
  })
  const [{ url }] = (await once(child, 'message')) as [{ url: string }]
  const ask = async (what: 'reset' | 'take') => {
    child.send(what)
    const [taken] = (await once(child, 'message')) as [Taken]
    return taken
  }
  return {
    url,
    reset: () => ask('reset'),
    take: () => ask('take'),
    async end() {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}
