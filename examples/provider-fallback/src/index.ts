import { anthropicServer } from './servers/anthropic-server.ts'
import { openAiServer } from './servers/openai-server.ts'
import { showRun } from './show-run.ts'
import { createSupportAgent, first, second } from './support-agent.ts'

// With both keys, this calls the real providers, which may not fail. Otherwise, two local servers simulate them.
const { OPENAI_API_KEY, ANTHROPIC_API_KEY } = process.env
const played = OPENAI_API_KEY && ANTHROPIC_API_KEY ? undefined : [await openAiServer(), await anthropicServer()]
const [openAi, anthropic] = played ?? []
const env = played && {
  OPENAI_API_KEY: 'none needed',
  ANTHROPIC_API_KEY: 'none needed',
  OPENAI_BASE_URL: openAi?.url,
  ANTHROPIC_BASE_URL: anthropic?.url,
}

const agent = createSupportAgent(env ?? process.env)
const session = agent.session()
try {
  console.log(`${first}, with the fallback ${second}\n`)
  for (const question of ['Where is my parcel?', 'Thank you!']) {
    console.log(`user: ${question}`)
    await showRun(session.run(question))
  }
  console.log('usage by provider:')
  const models = session.state['observe:usage:models']
  for (const [id, { calls, inputTokens, outputTokens }] of Object.entries(models))
    console.log(`  ${id}: ${calls} ${calls === 1 ? 'call' : 'calls'}, ${inputTokens} tokens in, ${outputTokens} out`)
  for (const server of played ?? []) console.log(`\n${server.log.join('\n')}`)
} finally {
  for (const server of played ?? []) server.close()
  await agent.dispose()
}
