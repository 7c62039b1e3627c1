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

  try {
    for await (const event of run as AsyncIterable<Shown>) {
      if (event.type === 'text-delta') {
        answer ??= screen.open('agent', 'bold')
        answer.push(event.delta)
        continue
      }
      endAnswer()
      showEvent(event, screen)
    }
  } finally {
    endAnswer()
  }
}

function showEvent(event: Shown, screen: Screen): void {
  switch (event.type) {
    case 'tool:start':
      return screen.aside('  tool', `${event.name} ${JSON.stringify(event.args)}`)
    case 'tool:end':
      return screen.aside(`  ${event.status}`, event.content, statusStyle[event.status])
    case 'model:retry':
      return screen.aside(
        '  retry',
        `the model answered ${event.status}; attempt ${event.attempt + 1} follows`,
        'yellow',
      )
    case 'model:reset':
      return screen.aside('  reset', 'what was streamed does not count; a new attempt follows', 'yellow')
  }
}
