import type { EvalProgress } from '@allium/evals'
import type { CommandContext } from '../command-context.ts'
import { visible } from '../printable.ts'

/** Shows how far an evaluation is: one line that changes on a terminal, else a line for each tenth of the trials. */
export interface Progress {
  update(progress: EvalProgress): void
  /** Removes the changing line. */
  clear(): void
}

export function createProgress(name: string, total: number, { stderr, env }: CommandContext): Progress {
  const started = performance.now()
  const isLive = stderr.isTTY === true && !env.CI && env.TERM !== 'dumb'
  let [lost, tenth] = [0, 0]
  if (!isLive) stderr.write(`${name}: ${total} trials\n`)
  return {
    update({ done, case: id, status }) {
      if (status === 'lost') lost++
      const state = `${name}: ${done}/${total} trials${lost === 0 ? '' : `, ${lost} lost`}`
      if (isLive) {
        const rest = secondsLeft(performance.now() - started, done, total)
        const line = `${bar(done / total)} ${state}, ${rest}  ${visible(id)}`
        stderr.write(`\r\u001b[2K${line.slice(0, Math.max(20, (stderr.columns ?? 80) - 1))}`)
        return
      }
      const now = Math.floor((done * 10) / total)
      if (now > tenth) stderr.write(`${state}\n`)
      tenth = now
    },
    clear() {
      if (isLive) stderr.write('\r\u001b[2K')
    },
  }
}

function bar(share: number): string {
  const full = Math.round(share * 20)
  return `${'█'.repeat(full)}${'░'.repeat(20 - full)}`
}

function secondsLeft(elapsed: number, done: number, total: number): string {
  const seconds = Math.ceil((elapsed / done / 1000) * (total - done))
  return seconds < 90 ? `${seconds} s left` : `${Math.ceil(seconds / 60)} min left`
}
