import { langchain } from './langchain.mjs'

export default langchain({ useResponsesApi: true })
