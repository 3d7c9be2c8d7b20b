// Subcommands of kprobe-decode, one file each. Each adds itself to the parser
// and returns the function that runs it, which yields the exit status:
// 0, or 1 when an input was bad (its valid part has been shown).
#ifndef KPROBE_DECODE_COMMANDS_H
#define KPROBE_DECODE_COMMANDS_H

#include "ByteSource.h"
#include "Error.h"
#include "Trace.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <functional>
#include <string>
#include <vector>

namespace kprobe {

using Command = std::function<int()>;

Command addStatsCommand(CLI::App &App);
Command addDumpCommand(CLI::App &App);
Command addConvertCommand(CLI::App &App);
Command addFlameCommand(CLI::App &App);
Command addCriticalPathCommand(CLI::App &App);

/// Says "kprobe-decode: error: PLACE: TEXT" on stderr and returns 1.
int complain(const std::string &Place, const std::string &Text);

/// Reads the dump at \p Path into \p Sink; complains and returns 1 on a fault.
int readFile(const std::string &Path, Trace &Out, TraceSink &Sink);

/// Flushes stdout; complains and returns 1 if something could not be written.
int finishOutput();

/// Complains about \p Count damaged events in \p Path, if any.
int complainOfDamage(const std::string &Path, uint64_t Count);

} // namespace kprobe

#endif
