import type { createSupportAgent } from './support-agent.ts'

type Run = ReturnType<ReturnType<typeof createSupportAgent>['run']>

/** Prints a run as a chat window has it to be: what was shown is taken back at a reset. */
export async function showRun(run: Run): Promise<void> {
  let shown = ''
  for await (const event of run) {
    switch (event.type) {
      case 'text-delta':
        shown += event.delta
        console.log(`  shows     ${JSON.stringify(shown)}`)
        break
      case 'model:reset':
        shown = ''
        console.log('  reset     takes back what it shows: another attempt follows')
        break
      case 'model:retry':
        console.log(`  retry     attempt ${event.attempt} failed (${event.status}), again in ${event.delay} ms`)
        break
      case 'model:fallback':
        console.log(`  fallback  ${event.from} → ${event.to}`)
    }
  }
  const { status, text, usage } = await run
  console.log(`  result    ${status}: ${JSON.stringify(text)}, the same as is shown: ${text === shown}`)
  const estimated = usage.estimated ? ', partly estimated' : ''
  console.log(
    `  usage     ${usage.calls} calls, ${usage.inputTokens} tokens in, ${usage.outputTokens} out${estimated}\n`,
  )
}
