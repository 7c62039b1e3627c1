import { fileURLToPath } from 'node:url'
import { loadConfig } from 'allium/config'
import { scriptedModel } from 'allium/testing'

/** Runs one turn of the agent in `allium.config.yml`. Its model first requests a forbidden command. `hour` is the time in the office. */
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
