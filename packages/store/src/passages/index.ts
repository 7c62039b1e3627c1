export { blindTerms } from './blind-terms.ts'
export { passageText } from './passage-text.ts'
export { withPassages } from './with-passages.ts'
