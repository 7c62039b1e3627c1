import { defineConfig } from 'tsup'
import base from '../../tsup.base.ts'

export default defineConfig({ ...base, entry: { index: 'src/index.ts', agent: 'src/agent/to-ai-sdk-agent.ts' } })
