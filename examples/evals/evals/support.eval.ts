import { playedModel } from '../src/played-model.ts'
import { createSupportAgent } from '../src/support-agent.ts'
import { supportEval } from '../src/support-eval.ts'

export default await supportEval(createSupportAgent({ model: playedModel }))
