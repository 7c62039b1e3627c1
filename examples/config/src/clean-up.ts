import { fileURLToPath } from 'node:url'
import { loadConfig } from 'allium/config'
import { scriptedModel } from 'allium/testing'

/** One turn of the agent in `allium.config.yml`, whose model first wants too much. `hour` is what the clock of the office says. */
export async function cleanUp(hour: number) {
  const model = scriptedModel([
    { toolCalls: [{ name: 'Bash', args: { command: 'rm -rf /' } }] },
    { toolCalls: [{ name: 'Bash', args: { command: 'ls /tmp' } }] },
    'All tidy.',
  ])
  const config = fileURLToPath(new URL('../allium.config.yml', import.meta.url))
  const agent = await loadConfig(config, { model, env: { ...process.env, OFFICE_HOUR: String(hour) } })
  return agent.run('Clean up, please.')
}
