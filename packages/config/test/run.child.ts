import { join } from 'node:path'
import { scriptedModel } from '@allium/testing'
import { loadConfig } from '../src/index.ts'

// One turn of the agent in a folder, for a test that ends this program meanwhile.
const root = process.argv[2] as string
await (await loadConfig(join(root, 'allium.config.yml'), { model: scriptedModel(['Hello.']) })).run('Hi')
