import type { AgentEvents, AgentRun, StreamEvent } from 'allium'
import type { Screen } from './screen.ts'

/** The events that are shown: those of every run, and what `model.retry` emits. */
type Shown = StreamEvent | AgentEvents['model:retry']

const statusStyle = { ok: 'green', skipped: 'green', denied: 'red', error: 'red', suspended: 'yellow' } as const

/** Shows what a run does while it does it: text as it is streamed, each tool call and what came of it, each retry. */
export async function showRun<State>(run: AgentRun<State>, screen: Screen): Promise<void> {
  let answer: ReturnType<Screen['open']> | undefined
  const endAnswer = () => {
    answer?.end()
    answer = undefined
  }

  for await (const event of run as AsyncIterable<Shown>) {
    if (event.type === 'text-delta') {
      answer ??= screen.open('agent', 'bold')
      answer.push(event.delta)
      continue
    }
    endAnswer()
    if (event.type === 'tool:start') screen.brief('  tool', `${event.name} ${JSON.stringify(event.args)}`)
    else if (event.type === 'tool:end') screen.brief(`  ${event.status}`, event.content, statusStyle[event.status])
    else if (event.type === 'model:retry')
      screen.line('  retry', `the model answered ${event.status}; attempt ${event.attempt + 1} follows`, 'yellow')
    else if (event.type === 'model:reset') screen.line('  reset', 'what was streamed does not count; a new attempt follows')
  }
  endAnswer()
}
