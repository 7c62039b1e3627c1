import type { createSupportAgent } from './support-agent.ts'

type Run = ReturnType<ReturnType<typeof createSupportAgent>['run']>

/** Prints a run like a chat window: a reset removes the text that was shown. */
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
        console.log('  reset     removes the shown text: another attempt follows')
        break
      case 'model:retry':
        console.log(`  retry     attempt ${event.attempt} failed (${event.status}), again in ${event.delay} ms`)
        break
      case 'model:fallback':
        console.log(`  fallback  ${event.from} → ${event.to}`)
    }
  }
  const { status, text, usage } = await run
  console.log(`  result    ${status}: ${JSON.stringify(text)}, equal to the shown text: ${text === shown}`)
  const estimated = usage.estimated ? ', partly estimated' : ''
  console.log(
    `  usage     ${usage.calls} ${usage.calls === 1 ? 'call' : 'calls'}, ${usage.inputTokens} tokens in, ${usage.outputTokens} out${estimated}\n`,
  )
}
