import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { plants } from './plants.ts'

/*
 * `npm run plant:flow`: plants each bug of plants.ts, one after the other, and tells whether the attacks or the harmless tasks
 * find it. `npm run plant:flow -- links` takes those that have the word in what they break.
 */
const root = fileURLToPath(new URL('../../../../', import.meta.url))
const config = 'packages/allium/test/flow/vitest.plant.config.ts'
const words = process.argv.slice(2)

for (const { breaks, edits } of plants)
  for (const [file, from] of edits)
    if (!readFileSync(`${root}packages/${file}`, 'utf8').includes(from))
      throw new Error(`"${breaks}" quotes what does not stand in ${file}: ${from}`)

let missed = 0
for (const [i, { breaks }] of plants.entries()) {
  if (words.length > 0 && !words.some((word) => breaks.includes(word))) continue
  const { stdout, stderr } = spawnSync('node_modules/.bin/vitest', ['run', '--config', config], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, FLOW_PLANT: String(i), FLOW_CASES: '525' },
  })
  const isFound = `${stdout}${stderr}`.includes('AssertionError')
  if (!isFound) missed++
  console.log(`${isFound ? 'found ' : 'MISSED'}  ${breaks}`)
}
console.log(missed === 0 ? 'All were found.' : `${missed} were not found.`)
process.exit(missed === 0 ? 0 : 1)
