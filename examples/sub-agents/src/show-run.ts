import type { Newsroom } from './newsroom.ts'

type Run = ReturnType<Newsroom['run']>

/** Prints the events of a run. Events of sub-agents have a `path` and are indented. */
export async function showRun(run: Run) {
  for await (const event of run) {
    const path = 'path' in event && Array.isArray(event.path) ? event.path : []
    const who = `${'  '.repeat(path.length)}${['lead', ...path].join(' › ')}`.padEnd(22)
    if (event.type === 'tool:start') console.log(`${who} calls ${event.name} ${JSON.stringify(event.args)}`)
    if (event.type === 'tool:end') console.log(`${who} ${event.name}: ${event.status}, ${cut(event.content)}`)
    if (event.type === 'turn:end' && path.length > 0)
      console.log(
        `${who} ${event.status} after ${event.usage.calls} model ${event.usage.calls === 1 ? 'call' : 'calls'}`,
      )
  }
  const { status, reason, text } = await run
  console.log(`${'lead'.padEnd(22)} ${[status, reason, text].filter(Boolean).join(' · ')}\n`)
}

function cut(text: string): string {
  return text.length > 90 ? `${text.slice(0, 89)}…` : text
}
