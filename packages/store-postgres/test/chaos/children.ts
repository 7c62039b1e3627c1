import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { build } from 'tsup'

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
    const failed = once(child, 'exit').then(() => {
      throw new Error('A child of chaos ended before it had a job.')
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

async function bundled(worker: string, folder: string): Promise<string> {
  await build({
    config: false,
    entry: { worker },
    format: 'esm',
    target: 'node20',
    outDir: folder,
    outExtension: () => ({ js: '.mjs' }),
    noExternal: [/./],
    silent: true,
    banner: {
      js: "import { createRequire as requireHere } from 'node:module'; const require = requireHere(import.meta.url);",
    },
    esbuildPlugins: [
      {
        name: 'drivers',
        setup(bundle) {
          // Drivers are loaded from where they are installed.
          bundle.onResolve({ filter: /^(libsql|pg)$/ }, ({ path, importer }) => ({
            path: createRequire(importer).resolve(path),
            external: true,
          }))
        },
      },
    ],
    esbuildOptions(options) {
      options.conditions = ['@allium/source', 'node']
    },
  })
  return join(folder, 'worker.mjs')
}
