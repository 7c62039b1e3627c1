import type { ParentMessage } from '../messages.ts'
import { loadErrorText } from './load-error.ts'
import { type RunningAgent, runAgent } from './run-agent.ts'

let running: RunningAgent | undefined

process.on('message', async (message: ParentMessage) => {
  if (message.type === 'close') return close()
  if (message.type === 'replay') return replay(message)
  try {
    running = await runAgent(message.options)
    const { port, name: agent, principal, readOnly } = running
    process.send?.({ type: 'ready', port, agent, principal, readOnly })
  } catch (error) {
    process.send?.({ type: 'failed', message: loadErrorText(error) })
  }
})
// The inspector has ended, so no request reaches this process.
process.on('disconnect', close)
// Ctrl-C reaches both processes. The inspector closes this one.
process.on('SIGINT', () => {})

/** This process was started for one replay. The inspector ends it. */
async function replay({ options, request }: Extract<ParentMessage, { type: 'replay' }>): Promise<void> {
  try {
    const { replayTurn } = await import('./replay/replay-turn.ts')
    process.send?.({ type: 'replayed', view: await replayTurn(options, request) })
  } catch (error) {
    process.send?.({ type: 'failed', message: loadErrorText(error) })
  }
}

async function close(): Promise<void> {
  await running?.close().catch((error) => console.error(error))
  process.exit()
}
