import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

// KB of `import { Agent } from '@allium/core'`, bundled, minified and gzipped, as `npm run check` pins them.
const figures = fileURLToPath(new URL('../../scripts/figures', import.meta.url))
const command = fileURLToPath(new URL('../../node_modules/size-limit/bin.js', import.meta.url))
const { stdout, stderr } = spawnSync(process.execPath, [command, '--json'], { cwd: figures, encoding: 'utf8' })
const core = stdout === '' ? undefined : JSON.parse(stdout).find(({ name }) => name === 'core')
if (core === undefined) throw new Error(`size-limit gave no size of @allium/core. ${stderr}`)
console.log(JSON.stringify({ values: { value: core.size / 1000 }, check: {} }))
