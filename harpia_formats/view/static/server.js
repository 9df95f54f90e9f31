// Requests to the server of this page.

const listeners = [];

/** Call a function when the server refuses a request or does not answer. */
export function onTrouble(listener) {
  listeners.push(listener);
}

/** Raise the one line with which the server refused a request. */
async function refused(response) {
  let text = `the server answered with status ${response.status}`;
  try {
    text = (await response.json()).error ?? text;
  } catch {
    // The answer is no JSON: the status says it.
  }
  throw new Error(text);
}

/** Return the address of a request. */
export function requestOf(name, values = {}) {
  const given = Object.entries(values).filter(([, value]) => value !== null && value !== undefined);
  return `${name}?${new URLSearchParams(given)}`;
}

/** Return the JSON value that the server has for a request; `isQuiet` tells no listener of trouble. */
export async function ask(name, values = {}, signal = undefined, isQuiet = false) {
  try {
    const response = await fetch(requestOf("/api/" + name, values), { signal }).catch((error) => {
      if (error.name === "AbortError") throw error;
      throw new Error("the server does not answer: was the command ended?", { cause: error });
    });
    if (!response.ok) await refused(response);
    return await response.json();
  } catch (error) {
    if (error.name !== "AbortError" && !isQuiet) for (const listener of listeners) listener();
    throw error;
  }
}

/** Send a value to the server. */
export async function tell(name, value) {
  const response = await fetch("/api/" + name, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(value),
  });
  if (!response.ok) await refused(response);
}
