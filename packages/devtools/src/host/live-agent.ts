import type { ChildOptions } from '../messages.ts'
import { type AgentProcess, startAgentProcess } from './agent-process.ts'
import type { Journal } from './journal.ts'

/** The agent's current process, which a reload replaces. */
export interface LiveAgent {
  /** Returns the current process, waiting for the first one. Undefined if none has loaded yet. */
  current(): Promise<AgentProcess | undefined>
  /** Starts a new process. The last good one stays if the module does not load. */
  reload(): Promise<void>
  close(): Promise<void>
}

/** Runs the agent in a separate process, one reload at a time. */
export function createLiveAgent(options: ChildOptions, journal: Journal): LiveAgent {
  let current: AgentProcess | undefined
  let isClosed = false
  let queue = Promise.resolve()

  const load = async () => {
    if (isClosed) return
    journal.status({ state: 'loading' })
    try {
      const next = await startAgentProcess({ ...options, onLine: journal.line, onExit })
      const previous = current
      current = next
      await previous?.close()
      const { agent, principal, readOnly } = next
      journal.status({ state: 'ready', agent, principal, readOnly })
    } catch (error) {
      journal.status({ state: 'failed', error: (error as Error).message, isServing: current !== undefined })
    }
  }

  function onExit(): void {
    current = undefined
    journal.status({ state: 'failed', error: 'The process of the agent ended. See its logs.', isServing: false })
  }

  return {
    async current() {
      await (current === undefined ? queue : undefined)
      return current
    },
    reload() {
      queue = queue.then(load)
      return queue
    },
    async close() {
      isClosed = true
      await queue
      await current?.close()
    },
  }
}
