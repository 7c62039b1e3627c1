export { type AnswerCut, type MaxWordsOptions, type MaxWordsState, maxWords } from './max-words.ts'
