// What `memory.recall` loads when it is first needed, because most agents never use it.

export { rerankBy } from './embed/rerank.ts'
export { enterEmbedding } from './embed/run-embedding.ts'
export { recallOnce } from './recall/recall-once.ts'
