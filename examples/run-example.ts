import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { programFlags } from '../e2e/program-flags.ts'

/** Runs the example of a test like `pnpm start`, without the API keys of the environment. */
export function runExample(test: string): Promise<{ code: number; out: string; err: string }> {
  const args = [...programFlags, 'src/index.ts']
  const options = { cwd: fileURLToPath(new URL('..', test)), env: { PATH: process.env.PATH } }
  return new Promise((resolve) => {
    const child = execFile(process.execPath, args, options, (_, out, err) => {
      resolve({ code: child.exitCode ?? 1, out, err })
    })
  })
}
