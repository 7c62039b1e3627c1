/**
 * Texts that look like credentials, wherever they stand. Each takes time linear in the text, hostile ones included:
 * what may repeat cannot begin anew within its own run, or is bounded. What a group has matched is kept.
 */
export const secretPatterns: readonly RegExp[] = [
  // PEM private keys. A key that is cut before its END goes too, up to a quote, so that JSON around it stays whole.
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-"]*(?:-{1,4}[^-"]+)*(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?/g,
  // JSON Web Tokens: two or three parts, the first a JSON object in base64url
  /(?<![\w-])eyJ[\w-]{8,2000}\.[\w-]{8,}(?:\.[\w-]*)?/g,
  // OpenAI, Anthropic and those who write keys as they do; Stripe
  /(?<![A-Za-z0-9])sk-[\w-]{16,}/g,
  /(?<![A-Za-z0-9])[rs]k_(?:live|test)_\w{10,}/g,
  // Google, GitHub, GitLab, Slack, AWS, Groq, xAI, Hugging Face, npm
  /(?<![A-Za-z0-9])AIza[\w-]{30,}/g,
  /(?<![A-Za-z0-9])(?:gh[a-z]_|github_pat_)\w{20,}/g,
  /(?<![A-Za-z0-9])glpat-[\w-]{16,}/g,
  /(?<![A-Za-z0-9])x(?:ox[a-z]|app)-[A-Za-z0-9-]{10,}/g,
  /(?<![A-Za-z0-9])A(?:KIA|SIA)[A-Z0-9]{16}/g,
  /(?<![A-Za-z0-9])(?:gsk_|xai-|hf_|npm_)[A-Za-z0-9]{20,}/g,
  // The scheme of a header stays. A digit within reach tells a token from a sentence about bearers.
  /\b((?:[Bb]earer|BEARER)[ \t]{1,4})(?=[A-Za-z._~+/=-]{0,64}[0-9])[\w.~+/=-]{8,}/g,
  // The password of a URL, such as that of a database
  /(:\/\/[^\s/@:"]{0,64}:)[^\s/@"]{1,256}(?=@)/g,
]

/** The names of settings whose values are credentials. */
export const secretName = /(?:authorization|cookie|password|secret|credentials?|api[-_]?key|token)$/i
