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
      }
      const aside = asideOf(event)
      if (aside === undefined) continue
      endAnswer()
      screen.aside(...aside)
    }
  } finally {
    endAnswer()
  }
}

function asideOf(event: Shown): Parameters<Screen['aside']> | undefined {
  switch (event.type) {
    case 'tool:start':
      return ['  tool', `${event.name} ${JSON.stringify(event.args)}`]
    case 'tool:end':
      if (event.status === 'suspended') return ['  waits', 'for a person: the run ends here', statusStyle.suspended]
      return [`  ${event.status}`, event.content, statusStyle[event.status]]
    case 'model:retry':
      return ['  retry', `attempt ${event.attempt} failed (${event.status ?? 'no answer'}), the next follows`, 'yellow']
    case 'model:reset':
      return ['  reset', 'what was streamed does not count; a new attempt follows', 'yellow']
    case 'turn:end':
      return event.status === 'blocked' ? ['  blocked', event.reason ?? '', 'red'] : undefined
    default:
      return undefined
  }
}
