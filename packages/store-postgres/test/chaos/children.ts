import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { bundled } from '../bundled.ts'

/** Children that have loaded their code and wait for a job: a kill costs no start. */
export interface Children {
  /** One that has begun with the job. */
  take(job: object): Promise<ChildProcess>
  end(): Promise<void>
}

/** Bundles the worker once, into `folder`, and keeps `ahead` children waiting. */
export async function children(
  folder: string,
  ahead: number,
  worker = join(import.meta.dirname, 'worker.ts'),
): Promise<Children> {
  const file = await bundled(worker, folder)
  const begin = async (): Promise<ChildProcess> => {
    const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
    const failed = once(child, 'exit').then(([code, signal]) => {
      throw new Error(`A child of chaos ended before it had a job (${signal ?? `code ${code}`}).`)
    })
    await Promise.race([once(child, 'message'), failed])
    failed.catch(() => {})
    return child
  }
  const waiting = Array.from({ length: ahead }, begin)
  return {
    async take(job) {
      waiting.push(begin())
      const child = await (waiting.shift() as Promise<ChildProcess>)
      child.send(job)
      return child
    },
    async end() {
      for (const child of await Promise.all(waiting)) child.kill('SIGKILL')
    },
  }
}
