import { expect, it } from "vitest";
import { ApiFailure, retryText } from "../../../web/src/api/failure.ts";
import { fieldError } from "../../../web/src/lib/action.ts";

it.each([
  ["must be an e-mail address", "This must be an e-mail address."],
  ["no more than 5", "No more than 5."],
  ["The name is taken.", "The name is taken."],
])("turns a message about a field into a sentence: %s", (message, said) => {
  const details = [{ path: "email", code: "invalid", message }];
  const failure = new ApiFailure("refused", { code: "VALIDATION_ERROR", status: 400, details });
  expect(fieldError(failure, "email")).toBe(said);
  expect(fieldError(failure, "name")).toBeUndefined();
});

it.each([
  ["The service could not be reached.", "The service could not be reached. Trying again."],
  ["The service is busy. Try again.", "The service is busy. Trying again."],
])("replaces the advice to try again while retrying: %s", (message, said) => {
  expect(retryText(message)).toBe(said);
});
