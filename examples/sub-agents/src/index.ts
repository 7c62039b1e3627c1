import { createNewsroom } from './newsroom.ts'
import { castOf, playedCast } from './played-cast.ts'
import { showRun } from './show-run.ts'
import { published } from './tools/publish-note.ts'

const who = { tenantId: 'acme', userId: 'dana' }
const cast = castOf(process.env.ALLIUM_MODEL)

console.log('── A lead, a researcher and a writer\n')
const newsroom = createNewsroom(cast ?? playedCast())
const session = newsroom.session({ principal: who })
const first = session.run('Publish a note on the history of the onion.')
await showRun(first)

console.log('── The writer needs approval, so the lead is suspended\n')
for (const { callId, name, path, args } of session.pending)
  console.log(`${callId}: ${path?.join(' › ')} wants ${name} ${JSON.stringify(args)}`)
console.log(`published: ${published.length}\n`)

// Decided in the lead's session, which could also be restored in another process.
const approved = Object.fromEntries(session.pending.map(({ callId }) => [callId, { approve: true as const }]))
const second = session.pending.length > 0 ? session.resume(approved) : session.run('Thank you.')
await showRun(second)
console.log(`published: ${published.map(({ tenant, title }) => `${title}, for ${tenant}`).join('; ')}\n`)

console.log('── The bill\n')
const { state, usage } = await second
const runs = [(await first).usage, usage]
for (const [run, { calls, inputTokens, outputTokens }] of runs.entries())
  console.log(
    `run ${run + 1}              ${calls} ${calls === 1 ? 'call' : 'calls'}, ${inputTokens} tokens in, ${outputTokens} out`,
  )
for (const [model, { calls, inputTokens, outputTokens }] of Object.entries(state['observe:usage:models']))
  console.log(
    `${model.padEnd(18)} ${calls} ${calls === 1 ? 'call' : 'calls'}, ${inputTokens} tokens in, ${outputTokens} out`,
  )
console.log(`the tenant's day   $${state['guard:budget:spent'].toFixed(4)}\n`)
await newsroom.dispose()

if (cast === undefined) {
  console.log('── The same with a budget that is used up by the researcher\n')
  const poor = createNewsroom(playedCast(), 0.018)
  await showRun(poor.run('Publish a note on the history of the onion.', { session: { principal: who } }))
  await poor.dispose()
}
