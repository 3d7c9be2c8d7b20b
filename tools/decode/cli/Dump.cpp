// kprobe-decode dump: a readable line for each event.
#include "Commands.h"

#include "Listing.h"

#include <iostream>
#include <memory>

namespace kprobe {

Command addDumpCommand(CLI::App &App) {
  struct Options {
    std::vector<std::string> Files;
    ListingFilter Filter;
  };
  auto O = std::make_shared<Options>();
  CLI::App *Sub = App.add_subcommand("dump", "readable listing of all events");
  Sub->add_option("FILE", O->Files, "dumps; - is standard input")->required();
  Sub->add_option("--dispatch", O->Filter.Dispatch, "only this dispatch")
      ->type_name("N");
  Sub->add_option("--wave", O->Filter.Wave, "only this wave of each dispatch")
      ->type_name("N");
  Sub->add_option("--kernel", O->Filter.Kernel,
                  "only kernels with TEXT in their name")
      ->type_name("TEXT");
  return [O] {
    int Status = 0;
    for (const std::string &File : O->Files) {
      Trace T;
      Listing Sink(std::cout, O->Filter);
      Status |= readFile(File, T, Sink);
      for (const std::string &M : T.Messages)
        std::cout << "message: " << M << "\n";
      Status |= complainOfDamage(File, Sink.damagedEvents());
    }
    return Status | finishOutput();
  };
}

} // namespace kprobe
