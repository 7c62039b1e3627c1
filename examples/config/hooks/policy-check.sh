#!/bin/sh
# Gets the hook, the loop and the call as JSON on stdin, and answers with JSON, or with nothing. The conversation is part of it,
# so only what follows "toolCall" counts; with jq it would be: jq -r .toolCall.arguments
if sed 's/.*"toolCall"//' | grep -q 'rm -rf'; then
  echo '{"deny": "rm -rf is not allowed"}'
fi
