import type { AgentEvents, AgentRun, StreamEvent } from 'allium'
import type { Screen } from './screen.ts'

/** The events that are shown: those of every run, and those of `model.retry`. */
type Shown = StreamEvent | AgentEvents['model:retry']

const statusStyle = { ok: 'green', skipped: 'green', denied: 'red', error: 'red', suspended: 'yellow' } as const

/** Prints a run as it streams: text, tool calls with their results, and retries. */
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
      if (event.status === 'suspended')
        return ['  pending', 'needs approval; the run is suspended', statusStyle.suspended]
      return [`  ${event.status}`, event.content, statusStyle[event.status]]
    case 'model:retry':
      return ['  retry', `attempt ${event.attempt} failed (${event.status ?? 'no answer'}), trying again`, 'yellow']
    case 'model:reset':
      return ['  reset', 'the streamed text is discarded; a new attempt follows', 'yellow']
    case 'turn:end':
      return event.status === 'blocked' ? ['  blocked', event.reason ?? '', 'red'] : undefined
    default:
      return undefined
  }
}
