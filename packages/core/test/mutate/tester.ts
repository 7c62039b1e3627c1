import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Mutant } from './instrument.ts'

const worker = fileURLToPath(new URL('worker.ts', import.meta.url))
const execArgv = ['--conditions=@allium/source', '--import=tsx', `--import=${new URL('register.ts', import.meta.url)}`]
export const workerArgs: readonly string[] = [...execArgv, worker]

/** How a mutant was found; undefined if it was not. `reached` is false for one that runs only while modules load. */
export interface Outcome {
  readonly reached: boolean
  readonly found: string | undefined
}

interface Answer {
  /** It tries the next case or test, and sends the answer later. */
  readonly busy?: boolean
  readonly reached?: boolean
  readonly found?: string
  /** The next mutant can be tried in the same process. */
  readonly clean?: boolean
}

/** Milliseconds after which a process hangs that sends nothing. Without a mutant, a case or test takes less than four seconds. */
const patience = { start: 300_000, answer: 20_000 }

/** Tries mutants in a process of its own, and replaces the process when a mutant hangs in it or leaves something behind. */
export class Tester {
  readonly #files: { readonly mutants: string; readonly coverage: string }
  #child: ChildProcess | undefined
  /** Mutants that the process has tried. */
  #tried = 0

  constructor(files: { readonly mutants: string; readonly coverage: string }) {
    this.#files = files
  }

  /** @param options.thorough takes slow tests and more cases, for a mutant that nothing has found before */
  async try({ id }: Pick<Mutant, 'id'>, { thorough = false } = {}): Promise<Outcome> {
    const isFirst = this.#tried === 0
    const answer = await this.#ask({ id, thorough })
    // In a process that an earlier mutant has changed, a test fails for another reason.
    if (answer?.clean === false && !isFirst) return this.try({ id }, { thorough })
    return { reached: answer?.reached ?? true, found: answer === undefined ? 'hangs' : answer.found }
  }

  stop(): void {
    this.#child?.kill('SIGKILL')
    this.#child = undefined
    this.#tried = 0
  }

  async #ask(question: { id: string; thorough: boolean }): Promise<Answer | undefined> {
    const child = (this.#child ??= await this.#start())
    this.#tried++
    const answer = await answerOf(child, patience.answer, () => child.send(question))
    if (answer?.clean !== true) this.stop()
    return answer
  }

  async #start(): Promise<ChildProcess> {
    const { mutants, coverage } = this.#files
    const child = fork(worker, ['--coverage', coverage], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      execArgv,
      env: { ...process.env, MUTANTS: mutants },
    })
    if ((await answerOf(child, patience.start, () => {})) === undefined)
      throw new Error('The process that tries mutants does not start.')
    return child
  }
}

/** Returns the answer of a process; undefined if it ends or sends nothing for some time. */
function answerOf(child: ChildProcess, ms: number, ask: () => void): Promise<Answer | undefined> {
  return new Promise((resolve) => {
    const settle = (answer?: Answer) => {
      clearTimeout(timer)
      child.off('message', hear).off('exit', end)
      resolve(answer)
    }
    const end = () => settle()
    const hear = (answer: Answer) => (answer.busy === true ? timer.refresh() : settle(answer))
    const timer = setTimeout(end, ms)
    child.on('message', hear).once('exit', end)
    ask()
  })
}
