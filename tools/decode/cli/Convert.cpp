#include "Commands.h"
namespace kprobe { Command addConvertCommand(CLI::App &App) { App.add_subcommand("convert",""); return []{return 2;}; } }
