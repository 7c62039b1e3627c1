import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

// No side may report its use to its vendor.
const env = { ...process.env, MASTRA_TELEMETRY_DISABLED: '1', LANGSMITH_TRACING: 'false' }

/**
 * Starts a program of this folder. `ask` sends it a question and returns its answer.
 *
 * @param {{ flags?: string[], node?: string }} [options] flags of Node, and the binary. @default the Node of this process
 */
export async function start(file, args = [], { flags: execArgv = [], node: execPath = process.execPath } = {}) {
  const options = { execArgv, execPath, env, stdio: 'inherit' }
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), args, options)
  const exited = once(child, 'exit')
  const failed = exited.then(([code]) => {
    throw new Error(`${file} ${args[0] ?? ''} exited with ${code}.`)
  })
  failed.catch(() => {})
  const answer = async () => (await Promise.race([once(child, 'message'), failed]))[0]
  const first = await answer()
  return {
    first: first.value ?? first,
    async ask(question) {
      child.send(question)
      return (await answer()).value
    },
    async end() {
      child.send('end')
      await exited
    },
    kill: () => child.kill('SIGKILL'),
  }
}
