import { createAgent } from './agent.ts'
import { chooseModel } from './model.ts'

const { model, note } = chooseModel(process.env)
console.log(`Model: ${note}`)

/** The agent that `npm run dev` opens in the inspector. */
export default createAgent(model)
