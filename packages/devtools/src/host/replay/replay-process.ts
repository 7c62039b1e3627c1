import { fork } from 'node:child_process'
import { hideSecrets } from '@allium/shared/detect'
import type { ChildMessage, ChildOptions } from '../../messages.ts'
import { childScript, nodeArguments } from '../../package-files.ts'
import type { ReplayRequest, ReplayView } from '../../replay-change.ts'
import { DevError } from '../dev-error.ts'

/** How long a replay may take, with loading the agent, in milliseconds. */
const timeout = 60_000

/** Replays one turn after the other, each in a process of its own: it loads the files as they are now. @throws DevError */
export type ReplayTurn = (request: ReplayRequest) => Promise<ReplayView>

export function replayInProcess(options: ChildOptions): ReplayTurn {
  let queue: Promise<unknown> = Promise.resolve()
  return (request) => {
    const replayed = queue.then(() => replayOnce(options, request))
    queue = replayed.catch(() => {})
    return replayed
  }
}

async function replayOnce(options: ChildOptions, request: ReplayRequest): Promise<ReplayView> {
  const child = fork(childScript, {
    cwd: options.cwd,
    execArgv: nodeArguments(),
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), timeout)
  try {
    const answer = await new Promise<ChildMessage>((resolve) => {
      child.once('message', (one) => resolve(one as ChildMessage))
      child.once('error', ({ message }) => resolve({ type: 'failed', message }))
      child.once('exit', () => resolve({ type: 'failed', message: ended }))
      child.send({ type: 'replay', options, request }, () => {})
    })
    if (answer.type === 'replayed')
      return JSON.parse(hideSecrets(JSON.stringify(answer.view), '[hidden]')) as ReplayView
    throw new DevError(422, hideSecrets(answer.type === 'failed' ? answer.message : ended, '[hidden]'))
  } finally {
    clearTimeout(timer)
    child.kill('SIGKILL')
  }
}

const ended = `The replay ended without a result. It may take ${timeout / 1000} seconds.`
